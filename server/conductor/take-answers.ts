import type { ConsumeMessage } from 'amqplib';
import type { Context } from '#server/domain/context.ts';
import { type AmqpAnswer, type AnswerOutcome, takeAnswers } from '#server/domain/executions/index.ts';
import type { Broker } from './broker.ts';

/** How many answers could not be stored, by reason. */
export type RejectedAnswers = Record<Exclude<AnswerOutcome, 'taken'>, number>;

/** Stores answers of agents in batches, in the order of their arrival, and acknowledges them after the commit. */
export class AnswerReader {
  readonly #contextNow: () => Context;
  readonly #onRejected: (rejected: RejectedAnswers) => void;
  readonly #onError: (error: unknown) => void;
  #waiting: { message: ConsumeMessage; broker: Broker }[] = [];
  #storing: Promise<void> | null = null;

  /** `onError` is called if answers could not be stored; these answers remain in the broker's queue. */
  constructor(
    contextNow: () => Context,
    onRejected: (rejected: RejectedAnswers) => void,
    onError: (error: unknown) => void,
  ) {
    this.#contextNow = contextNow;
    this.#onRejected = onRejected;
    this.#onError = onError;
  }

  add(message: ConsumeMessage, broker: Broker): void {
    this.#waiting.push({ message, broker });
    this.#storing ??= this.#storeAll().finally(() => {
      this.#storing = null;
    });
  }

  /** Forgets the answers that are not stored yet. The broker sends them again over the next connection. */
  forget(): void {
    this.#waiting = [];
  }

  /** Resolves when no answer is being stored. */
  async settled(): Promise<void> {
    await this.#storing;
  }

  async #storeAll(): Promise<void> {
    // Answers that arrive together are stored together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        const outcomes = await takeAnswers(
          this.#contextNow(),
          batch.map(({ message }) => answerOf(message)),
        );
        for (const { message, broker } of batch) broker.acknowledge(message);
        const number = (wanted: AnswerOutcome) => outcomes.filter((outcome) => outcome === wanted).length;
        const rejected = { unreadable: number('unreadable'), unmatched: number('unmatched') };
        if (rejected.unreadable + rejected.unmatched > 0) this.#onRejected(rejected);
      } catch (error) {
        this.#onError(error);
        return;
      }
    }
  }
}

function answerOf({ content, properties }: ConsumeMessage): AmqpAnswer {
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);
  return { bytes: content, messageId: text(properties.messageId), correlationId: text(properties.correlationId) };
}
