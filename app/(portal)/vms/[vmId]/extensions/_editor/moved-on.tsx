'use client';

import { useEffect, useRef } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardBody, CardFooter } from '#app/_ui/card.tsx';
import type { FormPlan } from '#app/_ui/schema-form/bounded.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import type { ExtensionView } from '#server/domain/goal-states/index.ts';
import { type Change, changesBetween } from './changes.ts';
import { type Draft, draftOf, emptyDraft, type Protected } from './draft.ts';
import { useChangeWords } from './use-change-words.ts';

/** What is in force by now, as it was read when the portal refused. */
export interface Newer {
  incarnation: number;
  publishedAt: string;
  publishedBy: string;
  /** Null where the extension is gone, or where it never was. */
  extension: ExtensionView | null;
}

export interface MovedOnProps {
  newer: Newer;
  /** Where this editor started; null for a new extension. */
  base: ExtensionView | null;
  mine: Draft;
  secrets: Protected;
  plan: FormPlan | null;
  busy: boolean;
  onApplyMine(): void;
  onTakeTheirs(): void;
}

/** Two people at once: theirs and mine side by side, and the two ways on. */
export function MovedOn({ newer, base, mine, secrets, plan, busy, onApplyMine, onTakeTheirs }: MovedOnProps) {
  const { t } = useTranslation('editor');
  const say = useChangeWords();
  const place = useRef<HTMLHeadingElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each newer goal state is news again
  useEffect(() => {
    place.current?.focus();
    place.current?.scrollIntoView({ block: 'center' });
  }, [newer.incarnation]);

  const theirs = newer.extension === null ? null : draftOf(newer.extension);
  const start = base === null ? null : draftOf(base);
  const untouched = theirs !== null && start !== null && changesBetween(start, theirs, plan).length === 0;
  const blank = emptyDraft(mine.name, mine.version);
  const rows = changesBetween(theirs ?? blank, mine, plan);
  const before = start === null ? [] : changesBetween(theirs ?? blank, start, plan);
  const wasAt = (row: Change) => {
    const found = before.find(({ kind, at }) => kind === row.kind && at === row.at);
    return found === undefined ? row.before : found.after;
  };
  const cell = (row: Change, value: string | undefined) =>
    value === undefined ? (
      <span className="text-ink-3">{t('changes.notSet')}</span>
    ) : (
      <span className={row.kind === 'setting' ? 'mono wrap-anywhere' : 'wrap-anywhere'}>{say.value(row, value)}</span>
    );
  const theirSecrets = newer.extension?.protectedSettings ?? null;
  const secretsDiffer = (theirSecrets?.changedAt ?? null) !== (base?.protectedSettings?.changedAt ?? null);
  return (
    <Card className="mb-4" aria-labelledby="moved-on">
      <CardBody className="grid gap-1 pt-4">
        <h2 id="moved-on" ref={place} tabIndex={-1} className="flex gap-2 text-14 font-semibold outline-none">
          <StatusIcon status="warning" className="mt-[3px] text-warning-text" />
          {t('moved.title', { incarnation: newer.incarnation })}
        </h2>
        <p className="text-ink-2">
          <Trans
            text={t('moved.by', { name: newer.publishedBy })}
            tags={{ when: <RelativeTime value={new Date(newer.publishedAt)} /> }}
          />{' '}
          {theirs === null && base !== null
            ? t('moved.gone')
            : untouched && !secretsDiffer
              ? t('moved.untouched')
              : null}{' '}
          {theirs !== null && rows.length === 0 && !secretsDiffer ? t('moved.same') : null}
        </p>
      </CardBody>
      {rows.length === 0 && !secretsDiffer ? null : (
        <TableFrame label={t('moved.table')} className="rounded-none">
          <Table className="sm:min-w-[560px]">
            <THead>
              <tr>
                <Th>{t('moved.what')}</Th>
                <Th className="max-sm:hidden">{t('moved.was')}</Th>
                <Th>{t('moved.theirs')}</Th>
                <Th>{t('moved.mine')}</Th>
              </tr>
            </THead>
            <TBody>
              {rows.map((row) => (
                <Tr key={`${row.kind}${row.at}`}>
                  <Td className="font-medium whitespace-normal">{say.title(row)}</Td>
                  <Td className="whitespace-normal max-sm:hidden">{cell(row, wasAt(row))}</Td>
                  <Td className="whitespace-normal">{cell(row, row.before)}</Td>
                  <Td className="whitespace-normal">{cell(row, row.after)}</Td>
                </Tr>
              ))}
              {secretsDiffer ? (
                <Tr>
                  <Td className="font-medium whitespace-normal">{t('changes.protected')}</Td>
                  <Td className="max-sm:hidden" />
                  <Td className="whitespace-normal">
                    {theirSecrets === null
                      ? t('changes.protected.remove')
                      : t('moved.protectedTheirs', { name: theirSecrets.changedBy })}
                  </Td>
                  <Td>{t(`changes.protected.${secrets.mode}`)}</Td>
                </Tr>
              ) : null}
            </TBody>
          </Table>
        </TableFrame>
      )}
      <CardFooter>
        <Button busy={busy} onClick={onApplyMine}>
          {t('moved.applyMine')}
        </Button>
        <Button variant="ghost" onClick={onTakeTheirs}>
          {t('moved.takeTheirs')}
        </Button>
      </CardFooter>
    </Card>
  );
}
