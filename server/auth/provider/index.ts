export { connectProvider } from './connect-provider.ts';
export * from './get-provider.ts';
export * from './get-sign-in-ways.ts';
export type { Refusal } from './input.ts';
export * from './provider.ts';
export * from './refusal.ts';
export * from './sign-in-with-provider.ts';
