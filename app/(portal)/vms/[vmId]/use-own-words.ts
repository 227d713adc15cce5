'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { commandFailed, type Extension } from './vm-data.ts';

/** What the portal says where a handler has said nothing of its goal; null where the handler's own message stands. */
export function useOwnWords(extension: Extension): string | null {
  const { t } = useTranslation('reports');
  const { status, handlerState, goalSequenceNumber, goal, deliveredAt } = extension;
  const begun = handlerState !== null && handlerState.sequenceNumber >= goalSequenceNumber;
  if (begun && handlerState.blockedBy !== null) return t('said.waits', { other: handlerState.blockedBy });
  if (begun && status !== null && status.sequenceNumber >= goalSequenceNumber && goal !== 'uninstall') return null;
  if (begun && commandFailed(extension)) {
    // An earlier sequence's message would contradict a command that failed since.
    return t('said.failed', { command: handlerState.command ?? '' });
  }
  if (goal === 'uninstall') return t('said.leaving');
  if (deliveredAt === null) return status === null ? t('said.notDelivered') : null;
  if (!begun) return status === null ? t('said.notBegun') : null;
  return status === null || handlerState.state !== 'enabled' ? t(`said.${handlerState.state}`) : null;
}
