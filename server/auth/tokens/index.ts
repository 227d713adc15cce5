export * from './create-token.ts';
export * from './input.ts';
export * from './list-tokens.ts';
export * from './revoke-token.ts';
