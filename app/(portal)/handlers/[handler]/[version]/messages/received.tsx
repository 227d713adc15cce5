'use client';

import { X } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { IconButton } from '#app/_ui/button.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { Status } from '#app/_ui/status.tsx';
import type { ReceivedFile } from './use-resource-files.ts';

/** The result of each uploaded language file, with faults and their paths. */
export function Received({ received, onClose }: { received: readonly ReceivedFile[]; onClose(): void }) {
  const { t } = useTranslation(['localization', 'common']);
  if (received.length === 0) return null;
  return (
    <div role="status" className="flex items-start gap-2 border-t border-line-subtle px-4 py-2.5">
      <ul className="grid min-w-0 flex-1 gap-1">
        {received.map(({ name, outcome }) => (
          <li key={name} className="grid gap-0.5">
            {'stored' in outcome ? (
              <Status status="healthy">
                <span translate="no" className="mono">
                  {name}
                </span>
                {t('localization:file.stored', { lang: outcome.stored.lang, count: outcome.stored.messages })}
              </Status>
            ) : (
              <>
                <FieldError>
                  <span translate="no" className="mono me-1.5">
                    {name}
                  </span>
                  {'malformed' in outcome
                    ? t('localization:file.malformed', { reason: outcome.malformed })
                    : outcome.refused.message}
                </FieldError>
                {'refused' in outcome
                  ? outcome.refused.faults.map((fault) => (
                      <div key={`${fault.path} ${fault.code}`} className="ps-5">
                        <FieldError>
                          {fault.path === '' ? null : <code className="mono me-1.5">{fault.path}</code>}
                          {fault.message}
                        </FieldError>
                      </div>
                    ))
                  : null}
              </>
            )}
          </li>
        ))}
      </ul>
      <IconButton size="sm" label={t('common:close')} onClick={onClose}>
        <X aria-hidden />
      </IconButton>
    </div>
  );
}
