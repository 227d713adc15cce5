export { clearHistory } from './clear-history.ts';
export type { IngestResult } from './ingest-carefully.ts';
export { ingestReport } from './ingest-report.ts';
export { listLatestReports } from './list-latest-reports.ts';
export { listReportHistory, type PastReport } from './list-report-history.ts';
export { heartbeatReading, statusReading } from './merge.ts';
export { openRefusal } from './note-refused.ts';
export { ReportIntake } from './report-intake.ts';
export * from './rules.ts';
