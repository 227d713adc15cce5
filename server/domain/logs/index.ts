export { type Archive, archive } from './archive.ts';
export { clearLogs } from './clear-logs.ts';
export { downloadOutput, downloadOutputOfRun } from './download-output.ts';
export { dropTranscripts } from './drop-transcripts.ts';
export { archiveList, listArchives, listRequestedArchives, openArchive } from './list-archives.ts';
export { listOutputs } from './list-outputs.ts';
export { type Output, output } from './output.ts';
export {
  type FoundLine,
  getOutput,
  type OutputDetails,
  readOutput,
  searchOutput,
} from './read-output.ts';
export { readOutputOfRun, searchOutputOfRun } from './read-run-output.ts';
export { readTranscript, searchTranscript } from './read-transcript.ts';
export { receiveArchive } from './receive-archive.ts';
export { receiveNextOutput } from './receive-next-output.ts';
export { appendTranscript, receiveOutput, receiveRunOutput, receiveTranscript } from './receive-output.ts';
export { requestArchive } from './request-archive.ts';
export type { Row } from './rows.ts';
