export * from './bearer.ts';
export * from './body.ts';
export * from './bootstrap.ts';
export * from './door.ts';
export * from './origin.ts';
export type { PersonContext } from './person.ts';
export * from './session.ts';
export { openSignIn, type SignIn } from './sign-in.ts';
export * from './visits.ts';
