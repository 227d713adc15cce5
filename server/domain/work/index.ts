export { queueOf } from './queue.ts';
export type { QueuedGoal, QueuedTarget, QueueFacts, ReportedExtension } from './queue-facts.ts';
export { type Queue, type QueueEntry, type QueueReason, queue, queueReasonCodes } from './queue-words.ts';
