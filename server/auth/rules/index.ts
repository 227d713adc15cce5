export * from './get-sign-in-rules.ts';
export * from './input.ts';
export * from './set-sign-in-rules.ts';
