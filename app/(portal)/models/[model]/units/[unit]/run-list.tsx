'use client';

import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { Status } from '#app/_ui/status.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { HookName } from '../hook-name.tsx';
import { runRows } from '../run-rows.ts';
import { type ShownRun, statusOfOutcome } from '../unit-data.ts';
import { useOutcomeWords } from './use-outcome-words.ts';

export interface RunListProps {
  runs: readonly ShownRun[];
  opened: string | null;
  onOpen(run: string): void;
}

/** Runs, newest first. Earlier attempts for the same cause are one row, which can be unfolded. */
export function RunList({ runs, opened, onOpen }: RunListProps) {
  return (
    <ol className="divide-y divide-line-subtle">
      {runRows(runs).map((row) =>
        row.kind === 'run' ? (
          <RunLine key={row.run.id} run={row.run} isOpened={row.run.id === opened} onOpen={onOpen} />
        ) : (
          <Attempts key={`before ${row.runs[0]?.id}`} runs={row.runs} opened={opened} onOpen={onOpen} />
        ),
      )}
    </ol>
  );
}

interface RunLineProps {
  run: ShownRun;
  isOpened: boolean;
  onOpen(run: string): void;
}

const line =
  'relative grid w-full grid-cols-[2rem_minmax(0,1fr)_auto] gap-x-2 px-4 py-2 text-start hover:bg-hover focus-visible:shadow-focus';

function RunLine({ run, isOpened, onOpen }: RunLineProps) {
  const { t } = useTranslation('services');
  const outcome = useOutcomeWords();
  const { number, hook, remoteUnit, attempt, begunAt } = run;
  const about = [
    remoteUnit === null ? null : t('unit.runs.for', { unit: remoteUnit }),
    attempt === 1 ? null : t('unit.runs.attempt', { n: attempt }),
  ].filter((part) => part !== null);
  return (
    <li>
      <button
        type="button"
        aria-current={isOpened || undefined}
        onClick={() => onOpen(run.id)}
        className={cn(line, isOpened && 'bg-brand-tint hover:bg-brand-tint [--cut:var(--brand-tint)]')}
      >
        <span className="text-ink-3 tabular-nums">{number}</span>
        <span className="min-w-0">
          <HookName className="block">{hook}</HookName>
          {about.length === 0 ? null : <span className="block text-12 text-ink-3">{about.join(', ')}</span>}
        </span>
        <span className="text-end">
          <Status status={statusOfOutcome[run.outcome]} className="text-12">
            {outcome(run)}
          </Status>
          <span className="block text-11 text-ink-3 tabular-nums">
            <DateTime value={new Date(begunAt)} style={isToday(begunAt) ? 'time' : 'short'} />
          </span>
        </span>
      </button>
    </li>
  );
}

const dayMs = 86_400_000;
const isToday = (at: string): boolean => Date.now() - Date.parse(at) < dayMs / 2;

function Attempts({ runs, opened, onOpen }: Omit<RunListProps, 'runs'> & { runs: readonly ShownRun[] }) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const outcome = useOutcomeWords();
  const [isOpen, setOpen] = useState(runs.some(({ id }) => id === opened));
  const [newest, oldest] = [runs[0], runs.at(-1)];
  if (newest === undefined || oldest === undefined) return null;
  return (
    <>
      <li>
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} className={line}>
          <ChevronRight
            aria-hidden
            className={cn('mt-[3px] size-3.5 text-ink-3 rtl:-scale-x-100', isOpen && 'rotate-90')}
          />
          <span className="min-w-0">
            {t('unit.runs.earlier', { count: runs.length })}
            <span className="block text-12 text-ink-3 tabular-nums">
              {format.number(oldest.number)}–{format.number(newest.number)}
            </span>
          </span>
          <Status status={statusOfOutcome[newest.outcome]} className="text-12">
            {outcome(newest)}
          </Status>
        </button>
      </li>
      {isOpen
        ? runs.map((run) => <RunLine key={run.id} run={run} isOpened={run.id === opened} onOpen={onOpen} />)
        : null}
    </>
  );
}
