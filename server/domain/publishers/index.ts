export * from './create-publisher.ts';
export * from './input.ts';
export * from './list-publishers.ts';
