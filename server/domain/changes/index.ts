export * from './record-change.ts';
