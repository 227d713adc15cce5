export { countVersions } from './count-versions.ts';
export { derive, type ExtensionFacts, selectExtensions } from './derive.ts';
export { foldHealth, markForgotten } from './fold-health.ts';
export { markAged } from './mark-aged.ts';
