'use client';

import { useEffect, useRef, useState } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardBody, CardFooter } from '#app/_ui/card.tsx';
import type { FormPlan } from '#app/_ui/schema-form/bounded.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import type { ExtensionView } from '#server/domain/goal-states/index.ts';
import { ConflictRow } from './conflict-row.tsx';
import { CopySettings } from './copy-settings.tsx';
import { type Draft, draftOf, emptyDraft, type Protected } from './draft.ts';
import { type Choices, differencesOf, merged, openConflicts, type Side, sideOf } from './merge.ts';

/** What is in force by now. */
export interface Newer {
  incarnation: number;
  publishedAt: string;
  publishedBy: string;
  /** Null where the extension is gone, or where it never was. */
  extension: ExtensionView | null;
}

export interface ConflictCardProps {
  newer: Newer;
  /** Where this editor started; null for a new extension. */
  base: ExtensionView | null;
  mine: Draft;
  secrets: Protected;
  plan: FormPlan | null;
  /** Goes on from theirs with this draft; `keepsSecrets`: with the protected settings that were typed here. */
  onGoOn(draft: Draft, keepsSecrets: boolean): void;
}

const secretsKey = 'protected';

/** Two people at once: the common start, theirs and mine side by side; what both changed is chosen, the rest merged. */
export function ConflictCard({ newer, base, mine, secrets, plan, onGoOn }: ConflictCardProps) {
  const { t } = useTranslation('editor');
  const [choices, setChoices] = useState<Choices>({});
  const place = useRef<HTMLHeadingElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each newer goal state is news again
  useEffect(() => {
    place.current?.focus();
    place.current?.scrollIntoView({ block: 'center' });
  }, [newer.incarnation]);

  const isLeaving = newer.extension?.state === 'uninstall';
  const theirs = newer.extension === null ? null : draftOf(newer.extension);
  const blank = emptyDraft(mine.name, mine.version);
  const differences =
    theirs === null || isLeaving ? [] : differencesOf(base ? draftOf(base) : blank, theirs, mine, plan);
  const theirSecrets = newer.extension?.protectedSettings ?? null;
  const theyChanged = (theirSecrets?.changedAt ?? null) !== (base?.protectedSettings?.changedAt ?? null);
  const iChanged = secrets.mode !== 'keep';
  const secretsOpen = theyChanged && iChanged && choices[secretsKey] === undefined;
  const open = openConflicts(differences, choices).length + (secretsOpen ? 1 : 0);
  const choose = (key: string, side: Side) => setChoices((before) => ({ ...before, [key]: side }));
  const chooseAll = (side: Side) =>
    setChoices(Object.fromEntries([...differences.map(({ key }) => [key, side]), [secretsKey, side]]));

  return (
    <Card className="mb-4" aria-labelledby="moved-on">
      <CardBody className="grid gap-1 pt-4">
        <h2 id="moved-on" ref={place} tabIndex={-1} className="flex gap-2 text-14 font-semibold outline-none">
          <StatusIcon status="warning" className="mt-[3px] shrink-0 text-warning-text" />
          {t('moved.title', { incarnation: newer.incarnation })}
        </h2>
        <p className="text-ink-2">
          <Trans
            text={t('moved.by', { name: newer.publishedBy })}
            tags={{ when: <RelativeTime value={new Date(newer.publishedAt)} /> }}
          />{' '}
          {theirs === null ? t('moved.gone') : isLeaving ? t('moved.leaving') : null}
          {theirs !== null && !isLeaving
            ? t(differences.length === 0 && !theyChanged ? 'moved.same' : 'moved.how')
            : null}
        </p>
      </CardBody>
      {differences.length === 0 && !theyChanged ? null : (
        <ul aria-label={t('moved.table')} className="border-t border-line-subtle">
          {differences.map((one) => (
            <ConflictRow
              key={one.key}
              difference={one}
              side={sideOf(one, choices)}
              onChoose={(side) => choose(one.key, side)}
            />
          ))}
          {theyChanged && theirs !== null ? (
            <ConflictRow
              difference={{
                change: { kind: 'protected', at: '', titles: [], before: undefined, after: undefined },
                key: secretsKey,
                base: undefined,
                theirs:
                  theirSecrets === null
                    ? t('changes.protected.remove')
                    : t('moved.protectedTheirs', { name: theirSecrets.changedBy }),
                mine: t(`changes.protected.${secrets.mode}`),
                by: iChanged ? 'both' : 'theirs',
              }}
              side={choices[secretsKey] ?? (iChanged ? null : 'theirs')}
              onChoose={iChanged ? (side) => choose(secretsKey, side) : undefined}
            />
          ) : null}
        </ul>
      )}
      <CardFooter>
        {theirs !== null && !isLeaving ? (
          <>
            <Button
              aria-disabled={open > 0 || undefined}
              onClick={() => {
                if (open > 0) document.querySelector<HTMLElement>('[data-open-conflict] input')?.focus();
                else onGoOn(merged(theirs, mine, differences, choices), !theyChanged || choices[secretsKey] === 'mine');
              }}
            >
              {t('moved.goOn')}
            </Button>
            <Button variant="ghost" onClick={() => chooseAll('theirs')}>
              {t('moved.allTheirs')}
            </Button>
            <Button variant="ghost" onClick={() => chooseAll('mine')}>
              {t('moved.allMine')}
            </Button>
            <span role="status" className="ms-auto text-12 text-ink-2">
              {open === 0 ? t('moved.ready') : t('moved.open', { count: open })}
            </span>
          </>
        ) : (
          <>
            {isLeaving ? null : <Button onClick={() => onGoOn(mine, true)}>{t('moved.anew')}</Button>}
            <CopySettings settings={mine.settings} />
          </>
        )}
      </CardFooter>
    </Card>
  );
}
