export { clearChanges } from './clear-changes.ts';
export { dropHealthChecks, markForgotten, markHealthChecksDue, scheduleHealthChecks } from './health-checks.ts';
export { type ChangeTopic, changesChannel, recordChange, recordChanges } from './record-change.ts';
export { insertChangesSql, insertVmChangesSql, markHealthDueSql } from './statement-parts.ts';
