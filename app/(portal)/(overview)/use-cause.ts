'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { OverviewAnswers } from './answers.ts';

type Cell = NonNullable<OverviewAnswers['cell']['cell']>;
type Caused = Pick<Cell['troubles'][number], 'cause' | 'command' | 'exitCode' | 'messageId'> & {
  waitsFor?: string | null;
};

/** Returns a function that describes why an extension is unhealthy, such as "enable exit 51". */
export function useCause(): (caused: Caused) => string {
  const { t } = useTranslation('overview');
  return ({ cause, command, exitCode, messageId, waitsFor = null }) => {
    switch (cause) {
      case 'exit':
        return exitCode === null
          ? t('cause.failed')
          : t('cause.exit', { command: command ?? '', exit: exitCode }).trim();
      case 'timeout':
        return t('cause.timeout', { command: command ?? '' }).trim();
      case 'command':
        return command === null ? t('cause.failed') : t('cause.command', { command });
      case 'status':
        return messageId === null ? t('cause.status') : messageId;
      case 'substatus':
        return messageId === null ? t('cause.substatus') : messageId;
      case 'heartbeat':
        return t('cause.heartbeat');
      case 'deadline':
        return t('cause.deadline');
      case 'stale':
        return t('cause.stale');
      case 'waiting':
        return waitsFor === null ? t('cause.waiting') : t('cause.waitsFor', { name: waitsFor });
      case 'silent':
        return t('cause.silent');
      default:
        return t('cause.progressing');
    }
  };
}
