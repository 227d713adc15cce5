/** States in which an execution waits in the portal. */
export const waitingStates = ['waiting-approval', 'queued'] as const;
export type WaitingState = (typeof waitingStates)[number];

/** States in which a machine has the execution. A VM has at most one such execution. */
export const openStates = ['delivered', 'running', 'restarting'] as const;
export type OpenState = (typeof openStates)[number];

/** States in which an execution has ended. */
export const finalStates = ['succeeded', 'failed', 'timed-out', 'cancelled', 'expired', 'lost'] as const;

export const executionStates = [...waitingStates, ...openStates, ...finalStates] as const;

/** All states of an execution. An execution leaves each state within a limited time, unless it has ended. */
export type ExecutionState = (typeof executionStates)[number];

/** Reasons for which the portal cancels an execution that it cannot run. */
export const notRunReasons = ['execution.needs-secrets', 'execution.machine-replaced'] as const;
