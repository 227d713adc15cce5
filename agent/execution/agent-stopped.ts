/** Thrown by a call that is interrupted because the agent stops. The call continues when the agent starts again. */
export class AgentStopped extends Error {
  override readonly name = 'AgentStopped';
}
