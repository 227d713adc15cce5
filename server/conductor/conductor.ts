import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { systemActor } from '#server/domain/actor.ts';
import { type Context, type Services, systemOrigin } from '#server/domain/context.ts';
import { type ConductorNote, noteConductor } from '#server/domain/executions/index.ts';
import { goalStatesChannel } from '#server/domain/goal-states/index.ts';
import { type Broker, type BrokerError, brokerErrorOf, openBroker } from './broker.ts';
import { declareQueues, publishWaiting } from './publish-waiting.ts';
import { AnswerReader } from './take-answers.ts';

/** Milliseconds between two passes if no wake-up arrives, in case a wake-up is lost. */
const passMs = 5_000;
/** Overlap between two searches for bound VMs, because a transaction may commit late. */
const overlapMs = 60_000;
/** Shortest and longest pause before the next attempt to connect. */
const pauseMs = { least: 1_000, most: 30_000 };

type ConductorServices = Services & Pick<Context, 'log'>;

/** Exchanges executions and answers between the database and the AMQP broker. */
export class Conductor {
  readonly #services: ConductorServices;
  readonly #stopping = new AbortController();
  readonly #answers: AnswerReader;
  #wake = new AbortController();
  #lost: BrokerError | null = null;
  #connectedAt: Date | null = null;
  #fault: ConductorNote['fault'] = null;
  #rejected = { unreadable: 0, unmatched: 0 };
  #attempts = 0;
  #reported = { state: '', at: 0 };

  constructor(services: ConductorServices) {
    this.#services = services;
    this.#answers = new AnswerReader(
      () => this.#contextNow(),
      ({ unreadable, unmatched }) => {
        this.#rejected.unreadable += unreadable;
        this.#rejected.unmatched += unmatched;
      },
      (error) => this.#lose(brokerErrorOf(error, services.config.amqp.results)),
    );
  }

  /** Runs until `stop` is called. */
  async run(): Promise<void> {
    const { wakes } = this.#services;
    const listening = wakes.listen([goalStatesChannel], {
      heard: () => this.#wake.abort(),
      lost: () => {},
      back: () => this.#wake.abort(),
    });
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#session();
      } catch (error) {
        this.#noteFault(error);
      }
      await this.#report();
      const pause = Math.min(pauseMs.most, pauseMs.least * 2 ** Math.min(this.#attempts, 10));
      this.#attempts += 1;
      if (!this.#stopping.signal.aborted) await this.#rest(pause, [this.#stopping.signal]);
    }
    await listening.close();
  }

  /** Stops after the current pass, and after the answers that have arrived are stored. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Connects to the broker, and exchanges messages until the connection is lost or the conductor stops. */
  async #session(): Promise<void> {
    const { urls, caFile, results } = this.#services.config.amqp;
    this.#lost = null;
    const url = urls[this.#attempts % urls.length] ?? '';
    const early: Parameters<AnswerReader['add']>[0][] = [];
    let opened: Broker | null = null;
    const broker = await openBroker({
      ...{ url, caFile, results },
      onAnswer: (message) => (opened === null ? void early.push(message) : this.#answers.add(message, opened)),
      onLost: (error) => this.#lose(error),
    });
    opened = broker;
    for (const message of early) this.#answers.add(message, broker);
    try {
      this.#connectedAt = new Date();
      this.#fault = null;
      this.#services.log.info('connected to the AMQP broker');
      await this.#work(broker);
    } finally {
      this.#connectedAt = null;
      await this.#answers.settled();
      this.#answers.forget();
      await broker.close();
    }
  }

  async #work(broker: Broker): Promise<void> {
    let declaredAt: Date | null = null;
    while (!this.#stopping.signal.aborted) {
      this.#wake = new AbortController();
      if (this.#lost !== null) throw this.#lost;
      const now: Date = new Date();
      await declareQueues(this.#contextNow(), broker, declaredAt && new Date(declaredAt.getTime() - overlapMs));
      declaredAt = now;
      await publishWaiting(() => this.#contextNow(), broker);
      this.#attempts = 0;
      await this.#report();
      await this.#rest(passMs, [this.#wake.signal, this.#stopping.signal]);
    }
  }

  #lose(error: BrokerError): void {
    this.#lost ??= error;
    this.#wake.abort();
  }

  #noteFault(error: unknown): void {
    const { fault: id, message: detail } = brokerErrorOf(error, this.#services.config.amqp.results);
    if (this.#fault?.id !== id) this.#services.log.warn({ err: error }, 'the AMQP broker cannot be used');
    const since = this.#fault?.id === id ? this.#fault.since : new Date();
    this.#fault = { id, detail: detail.slice(0, 500), since };
  }

  /**
   * Stores the state of the conductor, unless the same state was stored recently. Ignores an unavailable database,
   * because the next report contains the whole state.
   */
  async #report(): Promise<void> {
    const { unreadable, unmatched } = this.#rejected;
    const state = JSON.stringify([this.#connectedAt, this.#fault, unreadable, unmatched]);
    if (state === this.#reported.state && performance.now() - this.#reported.at < passMs) return;
    this.#reported = { state, at: performance.now() };
    try {
      await noteConductor(this.#contextNow(), {
        ...{ connectedAt: this.#connectedAt, fault: this.#fault, unreadable, unmatched },
      });
      this.#rejected.unreadable -= unreadable;
      this.#rejected.unmatched -= unmatched;
    } catch (error) {
      this.#services.log.warn({ err: error }, 'the state of the conductor could not be stored');
    }
  }

  #contextNow(): Context {
    const call = { actor: systemActor, origin: systemOrigin, now: new Date(), requestId: randomUUID() };
    return { ...this.#services, ...call };
  }

  async #rest(ms: number, signals: AbortSignal[]): Promise<void> {
    await delay(ms, undefined, { signal: AbortSignal.any(signals) }).catch(() => {});
  }
}
