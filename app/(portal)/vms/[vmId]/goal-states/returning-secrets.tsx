'use client';

import { Lock } from 'lucide-react';
import type { ReactNode } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import type { GoalStatePlan } from '../vm-data.ts';

type Planned = GoalStatePlan['extensions'][number];

/** Says which protected settings a revert restores, who entered them and when. Never shows their values. */
export function ReturningSecrets({ extensions }: { extensions: readonly Planned[] }) {
  const rows = extensions.flatMap((extension) => sentencesOf(extension));
  if (rows.length === 0) return null;
  return (
    <ul className="mt-1 grid max-h-40 gap-0.5 overflow-y-auto text-ink-2">
      {rows.map(({ key, sentence }) => (
        <li key={key} className="flex gap-1.5 wrap-anywhere">
          <Lock aria-hidden className="mt-[3px] size-3.5 shrink-0" />
          <span className="min-w-0">{sentence}</span>
        </li>
      ))}
    </ul>
  );
}

function sentencesOf(extension: Planned): { key: string; sentence: ReactNode }[] {
  const { name, protectedChanges, protectedRestored } = extension;
  const changed = protectedChanges.filter(({ change }) => change !== 'kept');
  if (changed.length === 0 && protectedRestored !== null) {
    return [{ key: name, sentence: <Restored extension={name} {...protectedRestored} /> }];
  }
  return changed.map(({ name: setting, change, changedAt, changedBy }) => ({
    key: `${name}/${setting}`,
    sentence:
      change === 'returned' && changedAt !== null && changedBy !== null ? (
        <Restored extension={name} setting={setting} changedAt={changedAt} changedBy={changedBy} />
      ) : (
        <Removed extension={name} setting={setting} />
      ),
  }));
}

interface RestoredProps {
  extension: string;
  /** Absent if the names of the settings are not known. */
  setting?: string;
  changedAt: string;
  changedBy: string;
}

function Restored({ extension, setting, changedAt, changedBy }: RestoredProps) {
  const { t } = useTranslation('goal-states');
  const when = <RelativeTime value={new Date(changedAt)} />;
  return setting === undefined ? (
    <Trans text={t('revert.secretsReturn', { extension, name: changedBy })} tags={{ when }} />
  ) : (
    <Trans text={t('revert.secretReturns', { extension, setting, name: changedBy })} tags={{ when }} />
  );
}

function Removed({ extension, setting }: { extension: string; setting: string }) {
  const { t } = useTranslation('goal-states');
  return <>{t('revert.secretLeaves', { extension, setting })}</>;
}
