export { explain } from './explain.ts';
export { isDone } from './explain-facts.ts';
export { type ExplainedUnit, explainUnit } from './explain-unit.ts';
export { type Explanation, explanation, type Sentence } from './explanation.ts';
export { type Notice, notice, noticeOf } from './notice.ts';
export * from './pauses.ts';
export * from './rules.ts';
export * from './words.ts';
