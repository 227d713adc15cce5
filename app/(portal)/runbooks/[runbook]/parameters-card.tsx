'use client';

import { Lock } from 'lucide-react';
import { useMemo } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { Num } from '#app/_ui/num.tsx';
import { Chip } from '#app/_ui/tag.tsx';
import { parametersOf, type ShownParameter } from '../parameters.ts';
import type { ShownRunbookVersion } from '../runbook-data.ts';

/** The parameters of a version as its schema describes them. */
export function ParametersCard({ version }: { version: ShownRunbookVersion }) {
  const { t } = useTranslation('runbooks');
  const parameters = useMemo(() => parametersOf(version), [version]);
  return (
    <Card>
      <CardHeader
        title={t('parameters.title')}
        note={parameters.length === 0 ? undefined : <Num value={parameters.length} />}
      />
      {parameters.length === 0 ? (
        <CardBody className="text-ink-2">
          {t(version.parameters === null ? 'parameters.none' : 'parameters.noForm')}
        </CardBody>
      ) : (
        <ul>
          {parameters.map((parameter) => (
            <Parameter key={parameter.name} parameter={parameter} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function Parameter({ parameter }: { parameter: ShownParameter }) {
  const { t } = useTranslation(['runbooks', 'common']);
  const { name, title, type, choices, preset, isRequired, isSecret } = parameter;
  return (
    <li className="grid gap-0.5 border-t border-line-subtle px-4 py-2">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <code translate="no" className="mono min-w-0 font-medium wrap-anywhere">
          {name}
        </code>
        <span className="ms-auto flex gap-1.5">
          {isRequired ? <Chip>{t('common:required')}</Chip> : null}
          {isSecret ? (
            <Chip>
              <Lock aria-hidden className="size-3" />
              {t('parameters.secret')}
            </Chip>
          ) : null}
        </span>
      </div>
      {title === null ? null : (
        <span lang="" className="text-12 wrap-anywhere text-ink-2">
          {title}
        </span>
      )}
      <span className="text-12 text-ink-3">
        {choices > 0 ? t('parameters.type.choice', { count: choices }) : t(`parameters.type.${type}`)}
        {preset === null ? null : (
          <>
            {' · '}
            {t('parameters.default')}:{' '}
            <code translate="no" className="mono-11 wrap-anywhere">
              {preset}
            </code>
          </>
        )}
      </span>
    </li>
  );
}
