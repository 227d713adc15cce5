import { clearChanges, markForgotten } from '#server/domain/changes/index.ts';
import { clearHealth, createVersionCount, foldCounts } from '#server/domain/health/index.ts';
import { gatherReportedMessages } from '#server/domain/localization/index.ts';
import { clearLogs } from '#server/domain/logs/index.ts';
import { clearHistory } from '#server/domain/reports/index.ts';
import { runProcess } from '#server/process/run.ts';
import { createCountCheck } from './check-counts.ts';
import { clearBlobs } from './clear-blobs.ts';
import { clearExpired } from './clear-expired.ts';
import { clearUploads } from './clear-uploads.ts';
import { followActivity } from './follow-activity.ts';
import { followHealth } from './follow-health.ts';
import { keepPartitions } from './keep-partitions.ts';
import { sendAnchors } from './send-anchors.ts';
import { startTicker } from './ticker.ts';

const minute = 60_000;

await runProcess('worker', async (services) => {
  const stopFollowing = followHealth(services);
  const stopTicking = startTicker(services, [
    { name: 'keep-partitions', everyMs: 10 * minute, run: keepPartitions },
    { name: 'mark-forgotten', everyMs: 60 * minute, run: markForgotten },
    { name: 'gather-messages', everyMs: 2_000, run: gatherReportedMessages },
    { name: 'fold-counts', everyMs: 5_000, quiet: true, run: foldCounts },
    { name: 'check-counts', everyMs: 60 * minute, quiet: true, run: createCountCheck(services) },
    { name: 'count-versions', everyMs: 1_000, quiet: true, run: createVersionCount() },
    ...followActivity(services),
    sendAnchors(services),
    { name: 'clear-changes', everyMs: minute, run: clearChanges },
    { name: 'clear-expired', everyMs: 10 * minute, run: clearExpired },
    { name: 'clear-uploads', everyMs: 10 * minute, run: clearUploads },
    { name: 'clear-health', everyMs: 60 * minute, run: clearHealth },
    { name: 'clear-history', everyMs: 60 * minute, run: clearHistory },
    { name: 'clear-logs', everyMs: 60 * minute, run: clearLogs },
    { name: 'clear-blobs', everyMs: 60 * minute, run: clearBlobs },
  ]);
  return async () => {
    await Promise.all([stopFollowing(), stopTicking()]);
  };
});
