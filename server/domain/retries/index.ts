export { cancelRetries } from './cancel-retries.ts';
export { retryExtension } from './retry-extension.ts';
export { runRetries } from './run-retries.ts';
export { dropRetries, listSeries, type RetrySeries, series } from './series.ts';
