export * from './end-member-sessions.ts';
export * from './end-other-sessions.ts';
export * from './end-own-session.ts';
export * from './input.ts';
export * from './list-member-sessions.ts';
export * from './list-own-sessions.ts';
export * from './signed-in-browser.ts';
