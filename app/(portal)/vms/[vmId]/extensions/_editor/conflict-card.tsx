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
import { draftOf, type ExtensionDraft, emptyDraft, type ProtectedDraft } from './draft.ts';
import { type Choices, type ConflictSide, differencesOf, merged, openConflicts, sideOf } from './merge.ts';
import type { SingleChange } from './single-change.ts';

/** The current declaration of the extension, and the goal state that contains it. */
export interface Newer {
  incarnation: number;
  publishedAt: string;
  publishedBy: string;
  /** Null if the extension was deleted or never existed. */
  extension: ExtensionView | null;
}

export interface ConflictCardProps {
  newer: Newer;
  /** The declaration that this editor started from; null for a new extension. */
  base: ExtensionView | null;
  mine: ExtensionDraft;
  secrets: ProtectedDraft;
  plan: FormPlan | null;
  /**
   * Continues from the newer declaration with this draft. With `keepsSecrets`, also keeps the typed protected settings.
   */
  onContinue(draft: ExtensionDraft, keepsSecrets: boolean): void;
}

const secretsKey = 'protected';

/**
 * Shown when someone else changed the extension during the edit. Compares the original declaration with the other
 * person's and the reader's, and merges changes that do not conflict.
 */
export function ConflictCard({ newer, base, mine, secrets, plan, onContinue }: ConflictCardProps) {
  const { t } = useTranslation('editor');
  const heading = useRef<HTMLHeadingElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the effect runs again for each newer goal state
  useEffect(() => {
    heading.current?.focus();
    heading.current?.scrollIntoView({ block: 'center' });
  }, [newer.incarnation]);
  const conflict = useConflict({ newer, base, mine, secrets, plan });
  const { theirs, isLeaving, differences, theyChanged, iChanged, choices, choose, openCount } = conflict;
  return (
    <Card className="mb-4" aria-labelledby="moved-on">
      <CardBody className="grid gap-1 pt-4">
        <h2 id="moved-on" ref={heading} tabIndex={-1} className="flex gap-2 text-14 font-semibold outline-none">
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
            <SecretsRow
              theirs={newer.extension?.protectedSettings ?? null}
              mode={secrets.mode}
              side={conflict.secretsSide}
              onChoose={iChanged ? (side) => choose(secretsKey, side) : undefined}
            />
          ) : null}
        </ul>
      )}
      <CardFooter>
        {theirs !== null && !isLeaving ? (
          <MergeButtons
            openCount={openCount}
            onChooseAll={conflict.chooseAll}
            onContinue={() =>
              onContinue(merged(theirs, mine, differences, choices), !theyChanged || conflict.secretsSide === 'mine')
            }
          />
        ) : (
          <>
            {isLeaving ? null : <Button onClick={() => onContinue(mine, true)}>{t('moved.anew')}</Button>}
            <CopySettings settings={mine.settings} />
          </>
        )}
      </CardFooter>
    </Card>
  );
}

/** Compares the declarations and stores the side that the reader chose for each difference. */
function useConflict({ newer, base, mine, secrets, plan }: Omit<ConflictCardProps, 'onContinue'>) {
  const [choices, setChoices] = useState<Choices>({});
  const isLeaving = newer.extension?.state === 'uninstall';
  const theirs = newer.extension === null ? null : draftOf(newer.extension);
  const blank = emptyDraft(mine.name, mine.version);
  const differences =
    theirs === null || isLeaving ? [] : differencesOf(base ? draftOf(base) : blank, theirs, mine, plan);
  const changedAt = (extension: ExtensionView | null) => extension?.protectedSettings?.changedAt ?? null;
  const theyChanged = changedAt(newer.extension) !== changedAt(base);
  const iChanged = secrets.mode !== 'keep';
  // Changes to different settings can both be applied, so they need no choice.
  const isMerged = secrets.mode === 'change' && !overlaps(secrets, base, newer.extension);
  const secretsSide = choices[secretsKey] ?? (!iChanged ? 'theirs' : isMerged ? 'mine' : null);
  return {
    theirs,
    isLeaving,
    differences,
    theyChanged,
    iChanged,
    choices,
    secretsSide,
    openCount: openConflicts(differences, choices).length + (theyChanged && secretsSide === null ? 1 : 0),
    choose: (key: string, side: ConflictSide) => setChoices((before) => ({ ...before, [key]: side })),
    chooseAll: (side: ConflictSide) =>
      setChoices(Object.fromEntries([...differences.map(({ key }) => [key, side]), [secretsKey, side]])),
  };
}

/** Whether the other person changed a protected setting that the draft changes too. */
function overlaps(draft: SingleChange, base: ExtensionView | null, newer: ExtensionView | null): boolean {
  const entryOf = (extension: ExtensionView | null, name: string) => {
    const found = extension?.protectedSettings?.settings.find((setting) => setting.name === name);
    return found && `${found.changedAt} ${found.changedBy}`;
  };
  return [...Object.keys(draft.set), ...draft.remove].some((name) => entryOf(base, name) !== entryOf(newer, name));
}

interface SecretsRowProps {
  theirs: ExtensionView['protectedSettings'];
  mode: ProtectedDraft['mode'];
  side: ConflictSide | null;
  onChoose: ((side: ConflictSide) => void) | undefined;
}

/** A difference in protected settings. The portal knows who changed them, but never returns their values. */
function SecretsRow({ theirs, mode, side, onChoose }: SecretsRowProps) {
  const { t } = useTranslation('editor');
  return (
    <ConflictRow
      difference={{
        change: { kind: 'protected', at: '', titles: [], before: undefined, after: undefined },
        key: secretsKey,
        base: undefined,
        theirs:
          theirs === null ? t('changes.protected.remove') : t('moved.protectedTheirs', { name: theirs.changedBy }),
        mine: t(`changes.protected.${mode}`),
        by: onChoose === undefined ? 'theirs' : 'both',
      }}
      side={side}
      onChoose={onChoose}
    />
  );
}

interface MergeButtonsProps {
  /** Number of conflicts that still need a choice. */
  openCount: number;
  onChooseAll(side: ConflictSide): void;
  onContinue(): void;
}

function MergeButtons({ openCount, onChooseAll, onContinue }: MergeButtonsProps) {
  const { t } = useTranslation('editor');
  return (
    <>
      <Button
        aria-disabled={openCount > 0 || undefined}
        onClick={() => {
          if (openCount > 0) document.querySelector<HTMLElement>('[data-open-conflict] input')?.focus();
          else onContinue();
        }}
      >
        {t('moved.goOn')}
      </Button>
      <Button variant="ghost" onClick={() => onChooseAll('theirs')}>
        {t('moved.allTheirs')}
      </Button>
      <Button variant="ghost" onClick={() => onChooseAll('mine')}>
        {t('moved.allMine')}
      </Button>
      <span role="status" className="ms-auto text-12 text-ink-2">
        {openCount === 0 ? t('moved.ready') : t('moved.open', { count: openCount })}
      </span>
    </>
  );
}
