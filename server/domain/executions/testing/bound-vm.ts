import { randomUUID } from 'node:crypto';
import type { Context } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import {
  bindChannel,
  getExecution,
  notePublished,
  publishNext,
  queueExecution,
  takeAnswers,
} from '#server/domain/executions/index.ts';
import { resultOf } from './machine.ts';

/** A plan with nothing but a Body. */
export const smallPlan = { FormatVersion: '2.0.0', Body: 'return 1' };

/** A log message of a Body. */
export const logOf = (ID: string, more: object = {}) => ({
  ...{ FormatVersion: '2.0.0', ID, Level: 'info', Body: `message ${ID}`, Action: 'log' },
  ...{ Time: '2026-11-22T09:15:03.981Z', ...more },
});

/** Creates a VM that is bound to AMQP. Returns functions that act as the conductor and the VM's agent. */
export async function givenBoundVm(admin: Context, dialect: 'annex' | 'murano' = 'annex') {
  const { id: vmId } = await registerVm(admin, { name: `bound-${randomUUID().slice(0, 8)}` });
  const channel = await bindChannel(admin, { vmId, dialect });
  const now = () => ({ ...admin, now: new Date() });
  const answer = async (body: unknown, properties: { messageId?: string; correlationId?: string } = {}) => {
    const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    const { messageId = null, correlationId = null } = properties;
    const [outcome] = await takeAnswers(now(), [{ bytes, messageId, correlationId }]);
    return outcome;
  };
  return {
    vmId,
    channel,
    queue: async (plan: Record<string, unknown> = smallPlan, terms: object = {}) =>
      (await queueExecution(now(), { vmId, plan, ...terms })).execution,
    /** Publishes the next plan, as if the broker had confirmed it. */
    publish: async () => {
      const plan = await publishNext(now(), vmId);
      if (plan !== null) await notePublished(now(), plan);
      return plan;
    },
    answer,
    result: (planId: string, more: object = {}) => answer(resultOf(planId, more)),
    get: (executionId: string) => getExecution(admin, { vmId, executionId }),
  };
}
