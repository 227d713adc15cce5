export * from './record-audit.ts';
