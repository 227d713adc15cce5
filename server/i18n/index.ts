export * from './languages.ts';
export * from './problem.ts';
export * from './problem-response.ts';
export * from './queue.ts';
export * from './reason.ts';
export * from './refused-files.ts';
export * from './translator.ts';
export * from './warnings.ts';
