import type { Services } from '#server/domain/context.ts';
import type { OpenServices } from '#server/process/services.ts';

/** The context of a job's run. `db` is the job's own connection, with its statement timeout. */
export interface JobContext extends Services {
  log: OpenServices['log'];
  now: Date;
  /** Aborted when the worker shuts down. */
  signal: AbortSignal;
}

/** Periodic work. Each job has its own file in `jobs/`. */
export interface Job {
  /** The name in logs, in `pg_stat_activity`, and of the job's lock. */
  name: string;
  /** Seconds from the start of a run to the start of the next one. */
  periodSeconds: number;
  /** PostgreSQL cancels a statement of this job that takes longer. */
  statementTimeoutSeconds: number;
  /** Jobs with the same lock wait for each other. */
  lock?: string;
  /** Routine work that logs a line only when it fails. */
  quiet?: boolean;
  /** Returns how many items it handled. */
  run(ctx: JobContext): Promise<number>;
}
