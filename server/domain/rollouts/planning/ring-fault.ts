import { DomainError, type ErrorParams } from '#server/domain/error.ts';

/** A fault of one ring, found while a rollout is planned. */
export class RingFault extends DomainError {
  /** Index of the ring, from 0. */
  readonly ring: number;

  constructor(ring: number, code: 'window_too_short', params: ErrorParams) {
    super('unprocessable', code, { params });
    this.ring = ring;
  }
}
