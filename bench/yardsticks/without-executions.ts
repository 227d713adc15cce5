import { KnownAgent } from '#server/agent-api/memory/agent-memory.ts';

// Loaded into a gateway before its own code: polls then read nothing about executions.
const nothing = { executionStamp: 0, executionTurn: 0, cancelStamp: 0, hasUnannouncedExecution: false };
for (const [name, value] of Object.entries(nothing)) {
  Object.defineProperty(KnownAgent.prototype, name, { get: () => value });
}
