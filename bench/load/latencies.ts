import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';

/** Percentiles of latency in milliseconds. */
export interface Percentiles {
  p50: number;
  p90: number;
  p99: number;
  p999: number;
  max: number;
}

/** Latencies in a histogram with three significant figures (Node's own HDR histogram), from 1 µs to 10 minutes. */
export class Latencies {
  #histogram: RecordableHistogram = Latencies.#fresh();

  static #fresh(): RecordableHistogram {
    return createHistogram({ lowest: 1, highest: 600_000_000, figures: 3 });
  }

  get count(): number {
    return this.#histogram.count;
  }

  record(milliseconds: number): void {
    this.#histogram.record(Math.max(1, Math.round(milliseconds * 1_000)));
  }

  add(other: Latencies): void {
    this.#histogram.add(other.#histogram);
  }

  reset(): void {
    this.#histogram = Latencies.#fresh();
  }

  percentiles(): Percentiles {
    const at = (percentile: number): number => (this.count === 0 ? 0 : this.#histogram.percentile(percentile) / 1_000);
    return {
      p50: at(50),
      p90: at(90),
      p99: at(99),
      p999: at(99.9),
      max: this.count === 0 ? 0 : this.#histogram.max / 1_000,
    };
  }
}
