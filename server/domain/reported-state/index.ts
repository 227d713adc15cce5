export { dropReportedState } from './drop-reported-state.ts';
export { expectReports } from './expect-reports.ts';
export { clearPendingRestart, notePendingRestart } from './note-pending-restart.ts';
export { noteProblems } from './note-problems.ts';
export { updateLatestSql, updatePulseSql } from './statement-parts.ts';
export { storeLatest, storePulse } from './store-extension.ts';
