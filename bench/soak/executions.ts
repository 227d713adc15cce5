import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Services } from '#server/domain/context.ts';
import { getExecution, queueExecution } from '#server/domain/executions/index.ts';
import { contextOf } from './goals.ts';

const scripts = ['first', 'second', 'third', 'fourth', 'fifth'] as const;

/** An execution of the soak. `id` is null until the portal has confirmed it. */
interface Queued {
  vmId: string;
  plan: Record<string, unknown>;
  log: string;
  id: string | null;
}

/** Queues executions of five calls. Each call writes down that it runs, and takes a moment. */
export class SoakExecutions {
  readonly #services: Services;
  readonly #all: Queued[] = [];

  constructor(services: Services) {
    this.#services = services;
  }

  get count(): number {
    return this.#all.length;
  }

  /** Queues an execution for a VM. `folder` is where its calls write. */
  async queue(vmId: string, folder: string): Promise<void> {
    const name = `soak-${this.#all.length}`;
    const log = join(folder, `${name}.log`);
    const queued: Queued = { vmId, plan: planOf(name, log), log, id: null };
    this.#all.push(queued);
    await this.#send(queued);
  }

  /**
   * Waits until every execution has ended, for a limited time. Then returns a sentence for each execution that did not
   * succeed, or whose calls did not each run exactly once (MU-11, MU-19).
   */
  async settle(seconds: number): Promise<string[]> {
    const end = performance.now() + seconds * 1_000;
    for (;;) {
      const faults = (await Promise.all(this.#all.map((one) => this.#faultsOf(one)))).flat();
      if (faults.length === 0 || performance.now() > end) return faults;
      await delay(1_000);
    }
  }

  /** Sends an execution. After a lost answer, the same plan is sent again, which queues nothing new (MU-24). */
  async #send(queued: Queued): Promise<void> {
    const { vmId, plan } = queued;
    await queueExecution(contextOf(this.#services), { vmId, plan }).then(
      ({ execution }) => {
        queued.id = execution.id;
      },
      () => undefined,
    );
  }

  async #faultsOf(queued: Queued): Promise<string[]> {
    const { vmId, plan, log } = queued;
    if (queued.id === null) await this.#send(queued);
    if (queued.id === null) return [`${plan.Name} was not queued`];
    try {
      const { state } = await getExecution(contextOf(this.#services), { vmId, executionId: queued.id });
      const ran = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').join(' ') : 'nothing';
      const isRight = state === 'succeeded' && ran === scripts.join(' ');
      return isRight ? [] : [`${plan.Name} is ${state} and ran ${ran}`];
    } catch (error) {
      return [`${plan.Name}: ${error instanceof Error ? error.message : error}`];
    }
  }
}

function planOf(name: string, log: string): Record<string, unknown> {
  const entries = scripts.map((script) => [script, `echo ${script} >> ${log}; sleep 0.2`] as const);
  return {
    ...{ FormatVersion: '2.0.0', ID: name, Name: name },
    Body: `${scripts.map((script) => `${script}()`).join('\n')}\nreturn 1`,
    Scripts: Object.fromEntries(entries.map(([script]) => [script, { Type: 'Bash', EntryPoint: script, Options: {} }])),
    Files: Object.fromEntries(
      entries.map(([script, text]) => [script, { Name: `${script}.sh`, BodyType: 'Text', Body: text }]),
    ),
  };
}
