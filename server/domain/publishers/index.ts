export * from './create-publisher.ts';
export * from './input.ts';
export * from './list-publishers.ts';
export * from './require-publishers.ts';
