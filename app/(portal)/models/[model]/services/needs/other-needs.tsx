'use client';

import { Cable } from 'lucide-react';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { modelHref } from '../../../model-data.ts';
import { NeedLine } from './need-line.tsx';
import type { NeedProps } from './need-props.ts';
import { useUnitNames } from './use-unit-names.ts';

/** A service whose formula requires a relation that it does not have. */
export function RelationNeed({ need: { service, units, endpoint }, may, onAct }: NeedProps<'relation'>) {
  const { t } = useTranslation('services');
  const { name } = endpoint;
  return (
    <NeedLine
      status="warning"
      title={t('needs.relation', { service, name })}
      why={t(may ? 'needs.relation.why' : 'needs.relation.viewer', { interface: endpoint.interface, count: units })}
    >
      {may ? (
        <Button onClick={() => onAct({ kind: 'relate', service, endpoint: name })}>
          <Cable aria-hidden />
          {t('needs.relate', { name: `${service}:${name}` })}
        </Button>
      ) : null}
    </NeedLine>
  );
}

/** Units whose machines are not enrolled yet. */
export function EnrollNeed({ need: { units }, model, may }: NeedProps<'enroll'>) {
  const { t } = useTranslation('services');
  const names = useUnitNames()(units);
  return (
    <NeedLine
      status="unknown"
      title={t('needs.enroll', { count: units.length })}
      why={t(may ? 'needs.enroll.why' : 'needs.enroll.viewer', { names, count: units.length })}
    >
      <Button asChild>
        <Link href={`${modelHref(model)}?view=topology`} prefetch={false}>
          {t('needs.enroll.show')}
        </Link>
      </Button>
    </NeedLine>
  );
}

/** A service without units. */
export function EmptyNeed({ need: { service }, may, onAct, services }: NeedProps<'empty'>) {
  const { t } = useTranslation('services');
  const found = services.find(({ name }) => name === service);
  return (
    <NeedLine status="waiting" title={t('needs.empty', { service })} why={t('needs.empty.why')}>
      {may && found !== undefined ? (
        <Button onClick={() => onAct({ kind: 'addUnits', service: found })}>{t('needs.empty.act', { service })}</Button>
      ) : null}
    </NeedLine>
  );
}
