'use client';

import { useMemo } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useDateLocale, useTimeZone } from '#app/_ui/clock.ts';
import { durationWords } from '#app/_ui/time.tsx';
import type { AxisEvent } from './axis-events.ts';

export interface EventWords {
  /** The extension's name, or the title of the lane. */
  lane: string;
  title: string;
  /** The cause, the actor or action, and the count, where they apply. */
  notes: string[];
  /** The time, or the start, end and duration of a period. */
  when: string;
}

const clockWithDay = {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
} as const;

/** Returns a function that formats a time with its day, to the second, in the reader's time zone. */
export function useMoment(): (at: number) => string {
  const { i18n } = useTranslation();
  const timeZone = useTimeZone();
  const locale = useDateLocale(i18n.language);
  return useMemo(() => {
    const format = new Intl.DateTimeFormat(locale, { ...clockWithDay, timeZone });
    return (at) => format.format(at);
  }, [locale, timeZone]);
}

/** Returns a function that describes an event on the axis, for the tooltip and the table. */
export function useEventWords(): (event: AxisEvent, now: number) => EventWords {
  const { t } = useTranslation(['timeline', 'common', 'executions']);
  const { t: common } = useTranslation('common');
  const moment = useMoment();
  return (event, now) => {
    const length = durationWords(common, (event.to ?? now) - event.from);
    const lasting =
      event.to === null
        ? t('timeline:since', { from: moment(event.from), length })
        : t('timeline:between', { from: moment(event.from), to: moment(event.to), length });
    const changes = event.count > 1 ? [t('timeline:changes', { count: event.count })] : [];
    const when = event.count > 1 ? lasting : moment(event.from);
    switch (event.kind) {
      case 'configuration': {
        const { incarnation, by, cause } = event.of;
        const act = rolloutActs.find((each) => each === cause.action);
        return {
          lane: t('timeline:lane.configuration'),
          title:
            event.count > 1
              ? t('timeline:goalStates', { count: event.count, incarnation })
              : t('timeline:goalState', { incarnation }),
          notes: [act === undefined ? t('timeline:by', { who: by }) : t(`timeline:${act}`, { name: by })],
          when,
        };
      }
      case 'act':
        return {
          lane: t('timeline:lane.people'),
          title: event.of.who,
          notes: [actWords(t, event.of), ...(event.count > 1 ? [t('timeline:joined', { count: event.count })] : [])],
          when,
        };
      case 'execution': {
        const { name, version, state, count } = event.of;
        return {
          lane: t('timeline:lane.executions'),
          title: `${name === '' ? t('executions:unnamed') : name} ${version}`,
          notes: [t(`executions:state.${state}`), ...(count > 1 ? [t('timeline:executions.merged', { count })] : [])],
          when: lasting,
        };
      }
      case 'hook': {
        const { unit, hook, outcome, count } = event.of;
        return {
          lane: t('timeline:lane.hooks'),
          title: `${unit} ${hook}`,
          notes: [t(`timeline:outcome.${outcome}`), ...(count > 1 ? [t('timeline:hooks.merged', { count })] : [])],
          when: lasting,
        };
      }
      case 'health': {
        const { cause, waitsFor } = event.of;
        const why = cause === null ? [] : [t(`timeline:cause.${cause}`, { other: waitsFor ?? '' })];
        const notes = event.drawn === 'unrecorded' ? [t('timeline:unrecorded.why')] : [...why, ...changes];
        return { lane: event.extension, title: t(`timeline:state.${event.drawn}`), notes, when: lasting };
      }
      case 'heartbeat':
        return {
          lane: event.extension,
          title: t(`timeline:verdict.${event.drawn}`),
          notes: changes,
          when: lasting,
        };
    }
  };
}

/** What rollouts do to a VM. */
const rolloutActs = ['rollout.step', 'rollout.recall', 'rollout.revert', 'rollout.retry'] as const;

type Words = ReturnType<typeof useTranslation<readonly ['timeline', 'common', 'executions']>>['t'];

const plain = [
  'extension.remove',
  'extension.remove-by-force',
  'extension.retry',
  'extension.retry-again',
  'extension.retry-cancel',
  'goal-state.revert',
  'vm.create',
  'vm.update',
  'vm.decommission',
  'enrollment-token.issue',
  'hold.set',
  'hold.change',
  'hold.release',
  'hold.end',
  'logs.request',
  'secrets.release',
  'secrets.withhold',
  'wire-access.grant',
  'wire-access.revoke',
  'wire-access.rotate-key',
  'wire-access.hold',
  'wire-access.release',
  'endpoint.set',
  'endpoint.close',
  'machine.add',
  'machine.adopt',
  'machine.give-back',
  'machine.remove',
  'role.password',
  'hook.retry',
  'hook.skip',
  'unit.release-secrets',
] as const;

type Act = Pick<Extract<AxisEvent, { kind: 'act' }>['of'], 'action' | 'target' | 'declared'>;

/** Returns a short label for an action. */
export function actWords(t: Words, { action, target, declared }: Act): string {
  if (declared !== null) return t(`timeline:act.extension.set.${declared}`, { name: target });
  const known = plain.find((each) => each === action);
  return known === undefined ? t('timeline:act.other') : t(`timeline:act.${known}`, { name: target });
}
