export { queueOf } from './queue.ts';
export type { QueuedExecution, QueuedGoal, QueueFacts } from './queue-facts.ts';
export { type QueueEntry, queue, queueEntry, queueReason, type VmQueue } from './queue-words.ts';
