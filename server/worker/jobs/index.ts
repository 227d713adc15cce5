import { ActivityWatch } from '#server/domain/audit/index.ts';
import type { OpenServices } from '#server/process/services.ts';
import type { Job } from '../job.ts';
import { checkActivityJob } from './check-activity.ts';
import { checkCountsJob } from './check-counts.ts';
import { clearBlobsJob } from './clear-blobs.ts';
import { clearChangesJob } from './clear-changes.ts';
import { clearExecutionsJob } from './clear-executions.ts';
import { clearExpiredJob } from './clear-expired.ts';
import { clearHealthJob } from './clear-health.ts';
import { clearHistoryJob } from './clear-history.ts';
import { clearLogsJob } from './clear-logs.ts';
import { clearRelationsJob } from './clear-relations.ts';
import { clearRolloutsJob } from './clear-rollouts.ts';
import { clearRunsJob } from './clear-runs.ts';
import { clearUploadsJob } from './clear-uploads.ts';
import { countVersionsJob } from './count-versions.ts';
import { endHoldsJob } from './end-holds.ts';
import { endSnoozesJob } from './end-snoozes.ts';
import { foldCountsJob } from './fold-counts.ts';
import { followActivityJob } from './follow-activity.ts';
import { gatherMessagesJob } from './gather-messages.ts';
import { keepPartitionsJob } from './keep-partitions.ts';
import { markForgottenJob } from './mark-forgotten.ts';
import { mendReservationsJob } from './mend-reservations.ts';
import { mendTopologyJob } from './mend-topology.ts';
import { runRetriesJob } from './run-retries.ts';
import { sendAnchorsJob } from './send-anchors.ts';
import { settleExecutionsJob } from './settle-executions.ts';

/** Creates all jobs of a worker. Some of them keep state between runs. */
export function createJobs({ log }: Pick<OpenServices, 'log'>): Job[] {
  const watch = new ActivityWatch((fault) => log.error({ fault }, 'the activity was tampered with'));
  return [
    keepPartitionsJob,
    markForgottenJob,
    endHoldsJob,
    settleExecutionsJob,
    runRetriesJob,
    endSnoozesJob,
    mendReservationsJob,
    mendTopologyJob,
    gatherMessagesJob,
    foldCountsJob,
    checkCountsJob,
    countVersionsJob(),
    followActivityJob(watch),
    checkActivityJob(watch),
    sendAnchorsJob(),
    clearChangesJob,
    clearExpiredJob,
    clearUploadsJob,
    clearHealthJob,
    clearHistoryJob,
    clearLogsJob,
    clearExecutionsJob,
    clearRolloutsJob,
    clearRelationsJob,
    clearRunsJob,
    clearBlobsJob,
  ];
}
