export { type IngestResult, ingestReport } from './ingest-report.ts';
export { listLatestReports } from './list-latest-reports.ts';
export { listReportHistory, type PastReport } from './list-report-history.ts';
export { heartbeatReading, statusReading } from './merge.ts';
export * from './rules.ts';
