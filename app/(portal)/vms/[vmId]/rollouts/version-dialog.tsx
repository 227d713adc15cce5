'use client';

import { useQuery } from '@tanstack/react-query';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { WordsOnDemand } from '#app/_lib/i18n/words-on-demand.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { HoldSentence } from './hold-sentence.tsx';
import { rolloutTag } from './rollout-line.tsx';
import type { VersionCandidate, VersionReasons } from './version-holds.ts';

interface VersionDialogProps {
  vmId: string;
  /** The extension. */
  name: string;
  onClose(): void;
}

/** Explains the version of an extension: what was requested, the policy, and what holds back each newer version. */
export function VersionDialog(props: VersionDialogProps) {
  return (
    <WordsOnDemand namespaces={['memberships']} onFailed={props.onClose}>
      <Versions {...props} />
    </WordsOnDemand>
  );
}

function Versions({ vmId, name, onClose }: VersionDialogProps) {
  const { t } = useTranslation(['memberships', 'common']);
  const trpc = useTRPC();
  const why = useQuery(trpc.rollouts.whyThisVersion.queryOptions({ vmId, name }));
  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="wide"
      title={t('memberships:version.title', { name })}
      footer={<Button onClick={onClose}>{t('common:close')}</Button>}
    >
      {why.data ? (
        <Reasons reasons={why.data} />
      ) : why.error ? (
        <QueryError error={why.error} onRetry={why.refetch} at={new Date(why.errorUpdatedAt)} />
      ) : (
        <SkeletonRows columns={['w-24', 'w-64']} rows={5} label={t('memberships:version.loading')} />
      )}
    </Dialog>
  );
}

function Reasons({ reasons }: { reasons: VersionReasons }) {
  const { t } = useTranslation('memberships');
  const { candidates, autoUpgradeMinorVersion } = reasons;
  return (
    <div className="grid gap-4">
      <div className="grid gap-1">
        <p className="text-pretty">
          <Requested reasons={reasons} />
        </p>
        <p className="text-pretty text-ink-2">{t(autoUpgradeMinorVersion ? 'version.auto.on' : 'version.auto.off')}</p>
      </div>
      <section aria-label={t('version.newer')}>
        <h3 className="mb-1.5 text-12 font-medium text-ink-3">{t('version.newer')}</h3>
        {candidates.length === 0 ? (
          <p className="text-ink-2">{t('version.newest')}</p>
        ) : (
          <ul className="divide-y divide-line-subtle rounded-md shadow-hair">
            {candidates.map((candidate) => (
              <Candidate key={candidate.version} candidate={candidate} />
            ))}
          </ul>
        )}
      </section>
    </div>
  );
}

/** Which version a person requested, and how the extension got another one. */
function Requested({ reasons: { version, requestedVersion, upgradedBy } }: { reasons: VersionReasons }) {
  const { t } = useTranslation('memberships');
  const tags = { version: <b translate="no" className="font-semibold" /> };
  if (version === requestedVersion) return <Trans text={t('version.asked', { version })} tags={tags} />;
  const values = { version, requested: requestedVersion, name: upgradedBy?.name ?? '' };
  if (upgradedBy === null) return <Trans text={t('version.shared', values)} tags={tags} />;
  return <Trans text={t('version.upgraded', values)} tags={{ ...tags, rollout: rolloutTag(upgradedBy.id) }} />;
}

function Candidate({ candidate: { version, publishedAt, held } }: { candidate: VersionCandidate }) {
  return (
    <li className="grid grid-cols-[minmax(7rem,auto)_minmax(0,1fr)] gap-x-4 gap-y-0.5 px-3 py-2 max-sm:grid-cols-[minmax(0,1fr)]">
      <span className="tabular-nums">
        <span translate="no" className="mono block font-medium">
          {version}
        </span>
        {publishedAt === null ? null : (
          <DateTime value={new Date(publishedAt)} style="date" className="text-12 text-ink-3" />
        )}
      </span>
      <span className="min-w-0 text-pretty wrap-anywhere text-ink-2">
        <HoldSentence held={held} />
      </span>
    </li>
  );
}
