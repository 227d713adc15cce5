export { cancelExecution, cancelWaiting } from './cancel-execution.ts';
export {
  bindChannel,
  dropChannel,
  type ExecutionChannel,
  executionChannel,
  getChannel,
  readChannel,
  unbindChannel,
} from './channel.ts';
export { clearExecutions } from './clear-executions.ts';
export { type CallPair, type ComparedOutput, compareCall, compareExecutions } from './compare-executions.ts';
export {
  type ConductorFault,
  type ConductorNote,
  type ConductorReport,
  getConductor,
  noteConductor,
} from './conductor-state.ts';
export { decideApproval } from './decide-approval.ts';
export { findFileOfMachine } from './execution-files.ts';
export { getExecutionRules, needsApproval, setExecutionRules, shownExecutionRules } from './execution-rules.ts';
export { type ExecutionDetails, executionDetails, getExecution, getPlan, getResult } from './get-execution.ts';
export { type ExecutionGroup, groupExecutions } from './group-executions.ts';
export { handOutNext } from './hand-out-next.ts';
export { listExecutions } from './list-executions.ts';
export { previewRuns, type RunPreview } from './many/preview-runs.ts';
export { type QueuedRun, queueMany } from './many/queue-many.ts';
export { recallMany } from './many/recall-many.ts';
export { checkRun, type RunOrder, type RunRequest, readRunFacts, readRunOrder } from './many/run-order.ts';
export { noteProgress } from './note-progress.ts';
export { listInputQueues, listUnpublished, notePublished, type PlanToPublish, publishNext } from './publish-plan.ts';
export { queueExecution } from './queue-execution.ts';
export { followExecution, type LogRow, readLog } from './read-log.ts';
export { filterLog, searchLog } from './search-log.ts';
export { endExecutions, endWaiting, settleDue } from './settle-due.ts';
export { execution } from './shown-execution.ts';
export { streamLog } from './stream-log.ts';
export { type AmqpAnswer, type AnswerOutcome, takeAnswers } from './take-answer.ts';
export { takeMessages } from './take-messages.ts';
export { takeResult } from './take-result.ts';
export { takeTranscript } from './take-transcript.ts';
export { planJudgement, validatePlan } from './validate-plan.ts';
