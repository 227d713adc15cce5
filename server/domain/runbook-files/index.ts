export { findRunbookFiles } from './find-files.ts';
export { listRunbookFiles } from './list-files.ts';
export { openRunbookFile } from './open-file.ts';
export { putRunbookFile } from './put-file.ts';
export { removeRunbookFile } from './remove-file.ts';
export { runbookFile } from './runbook-file.ts';
