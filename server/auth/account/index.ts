export * from './change-password.ts';
export * from './confirm.ts';
export * from './get-account.ts';
export * from './input.ts';
export * from './password-of.ts';
export * from './rename-account.ts';
export * from './set-language.ts';
export * from './start-confirmation.ts';
