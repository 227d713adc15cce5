'use client';

import { ArrowRight, Unlink } from 'lucide-react';
import { Fragment } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Facts, PageHeader } from '#app/_ui/page-header.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { DateTime, RelativeTime } from '#app/_ui/time.tsx';
import { MoreMenu } from '../../more-menu.tsx';
import { RelationStatus } from '../../services/relation-table.tsx';
import { serviceHref } from '../../services/service-data.ts';
import { endpointsInOrder, type RelationName, type ShownRelationDetails } from '../relation-data.ts';

export interface RelationHeadProps {
  name: RelationName;
  relation: ShownRelationDetails;
  onRemove(): void;
}

/** The endpoints and the state of a relation, with its actions. */
export function RelationHead({ name, relation, onRemove }: RelationHeadProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const may = useReader().can('operator');
  const { id, clock, units, movedAt, createdAt, createdBy, busy } = relation;
  const endpoints = endpointsInOrder(relation);
  const [first] = endpoints;
  return (
    <PageHeader
      title={<Title relation={relation} />}
      badge={<RelationStatus relation={relation} />}
      note={busy ? t('relation.busy') : undefined}
      actions={
        <Actions
          model={name.model}
          onRemove={may && relation.life === 'alive' && first?.side !== 'peer' ? onRemove : undefined}
        />
      }
    >
      <Facts
        items={[
          {
            label: t('column.interface'),
            value: (
              <span translate="no" className="mono">
                {relation.interface}
              </span>
            ),
          },
          {
            label: t('relation.fact.inHooks'),
            value: (
              <span translate="no" className="mono">
                {[...new Set(endpoints.map((endpoint) => `${endpoint.name}:${id}`))].join(', ')}
              </span>
            ),
          },
          {
            label: t(endpoints.length > 1 ? 'model.services' : 'column.service'),
            value: endpoints.map(({ service }, index) => (
              <Fragment key={service}>
                {index === 0 ? null : ', '}
                <TextLink href={serviceHref(name.model, service)} prefetch={false} translate="no">
                  {service}
                </TextLink>
              </Fragment>
            )),
          },
          { label: t('column.units'), value: format.number(units) },
          {
            label: t('relation.fact.lastChange'),
            value: (
              <>
                {clock === 0 ? null : `${format.number(clock)}, `}
                <RelativeTime value={new Date(movedAt)} />
              </>
            ),
          },
          {
            label: t('relation.fact.related'),
            value: (
              <>
                <DateTime value={new Date(createdAt)} />, <span translate="no">{createdBy}</span>
              </>
            ),
          },
        ]}
      />
    </PageHeader>
  );
}

function Title({ relation }: Pick<RelationHeadProps, 'relation'>) {
  const { t } = useTranslation('services');
  return (
    <span translate="no" className="flex flex-wrap items-center gap-x-2">
      {endpointsInOrder(relation).map(({ service, name }, index) => (
        <Fragment key={service}>
          {index === 0 ? null : (
            <>
              <ArrowRight aria-hidden className="size-4 text-ink-3 rtl:-scale-x-100" />
              <span className="sr-only">{t('relation.to')}</span>
            </>
          )}
          <span className="wrap-anywhere">
            {service}:{name}
          </span>
        </Fragment>
      ))}
    </span>
  );
}

function Actions({ model, onRemove }: { model: string; onRemove: (() => void) | undefined }) {
  const { t } = useTranslation('services');
  return (
    <MoreMenu model={model}>
      {({ MenuItem, MenuSeparator }) =>
        onRemove === undefined ? null : (
          <>
            <MenuSeparator />
            <MenuItem danger onSelect={onRemove}>
              <Unlink aria-hidden />
              {t('relation.act.remove.menu')}
            </MenuItem>
          </>
        )
      }
    </MoreMenu>
  );
}
