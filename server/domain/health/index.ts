export { derive, type ExtensionFacts, selectExtensions } from './derive.ts';
export { foldHealth, markForgotten } from './fold-health.ts';
