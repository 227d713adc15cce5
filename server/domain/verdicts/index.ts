export * from './rules.ts';
export * from './words.ts';
