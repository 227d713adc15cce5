import { setTimeout as delay } from 'node:timers/promises';
import { newKeyPair } from '#server/testing/key-pair.ts';
import type { CreatedVm } from './api.ts';

/** Milliseconds between reports, so that the machine stays below a VM's rate limit. */
const paceMs = 60;
const patienceMs = 60_000;

/**
 * A machine that sends numbered statuses one after the other, as fast as allowed. It keeps each report until the portal
 * acknowledges it, as an agent must, and records the acknowledged numbers.
 */
export class ReportingMachine {
  /** Numbers of the reports that got a 204. */
  readonly acknowledged: number[] = [];
  /** How many times sending a report failed and was retried. */
  retries = 0;
  readonly #door: string;
  readonly #credential: string;
  readonly #extension: string;
  #stopping = false;
  #running: Promise<void> = Promise.resolve();

  private constructor(door: string, credential: string, extension: string) {
    this.#door = door;
    this.#credential = credential;
    this.#extension = extension;
  }

  /** Enrolls at the URL of a gateway or portal and starts reporting. */
  static async start(address: string, vm: CreatedVm, extension: string): Promise<ReportingMachine> {
    const { certificate } = newKeyPair();
    const door = `${address}/agent/v1`;
    const answer = await fetch(`${door}/enroll`, {
      method: 'POST',
      body: JSON.stringify({
        enrollmentToken: vm.enrollmentToken,
        certificate,
        agent: { name: 'reporting-machine', version: '1.0' },
      }),
    });
    if (answer.status !== 201) throw new Error(`enrollment answered ${answer.status}: ${await answer.text()}`);
    const { credential } = (await answer.json()) as { credential: string };
    const machine = new ReportingMachine(door, credential, extension);
    machine.#running = machine.#run();
    // `stop` awaits the same promise and throws the error.
    machine.#running.catch(() => {});
    return machine;
  }

  /** Stops after the current report is acknowledged. Throws if a report was not acknowledged in time. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let number = 1; !this.#stopping; number++) {
      await this.#deliver(number);
      await delay(paceMs);
    }
  }

  async #deliver(number: number): Promise<void> {
    const deadline = Date.now() + patienceMs;
    while (!(await this.#send(number))) {
      if (Date.now() > deadline) throw new Error(`Report ${number} was not acknowledged for a minute.`);
      this.retries += 1;
      await delay(paceMs);
    }
    this.acknowledged.push(number);
  }

  /** Sends a report. Returns false if it must be retried: no response, 429 or 503. Throws on any other failure. */
  async #send(number: number): Promise<boolean> {
    const extension = this.#extension;
    const status = {
      operation: 'Count',
      status: 'transitioning',
      code: number,
      formattedMessage: { lang: 'en', message: `Report ${number}` },
    };
    const response = await fetch(`${this.#door}/reports`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#credential}` },
      body: JSON.stringify({
        run: 'the only one',
        reportNumber: number,
        handlers: [{ extension, version: '1.0.0.0', sequenceNumber: 1, state: 'enabled', exitCode: 0 }],
        statuses: [
          {
            extension,
            sequenceNumber: 1,
            ageSeconds: 0,
            file: [{ version: 1, timestampUTC: '2026-01-01T00:00:00Z', status }],
          },
        ],
      }),
      signal: AbortSignal.timeout(5_000),
    }).catch(() => null);
    if (response === null || [429, 503].includes(response.status)) {
      await response?.body?.cancel().catch(() => {});
      return false;
    }
    if (response.status === 204) return true;
    throw new Error(`report ${number} answered ${response.status}: ${await response.text()}`);
  }
}
