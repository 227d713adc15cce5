'use client';

import { type RefObject, useMemo, useRef, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { saveFile } from '#app/_lib/save-file.ts';
import { useFormat } from '#app/_ui/format.ts';
import type { ShownRelation, ShownService } from '../service-data.ts';
import { FindField } from './find-field.tsx';
import { pictureFile } from './picture-file.ts';
import { boxHeight, boxWidth, layoutServices, type ServiceLayout, structureOf } from './picture-layout.ts';
import { PictureTools } from './picture-tools.tsx';
import { RelationLines } from './relation-lines.tsx';
import { ServiceBox } from './service-box.tsx';
import { usePictureKeys } from './use-picture-keys.ts';
import { useServiceWords } from './use-service-words.ts';
import { useShownPart } from './use-shown-part.ts';
import { useViewport } from './use-viewport.ts';

export interface ServicePictureProps {
  model: string;
  services: readonly ShownService[];
  relations: readonly ShownRelation[];
}

/** Heights of the frame in pixels. A small picture has a small frame. */
const [minHeight, maxHeight, margin] = [220, 620, 24];

/**
 * The services of a model as boxes, with their relations as lines. For the keyboard, the picture is one stop: arrows walk
 * along relations and columns, Enter opens a service. Of a large model, it shows what is around one service.
 */
export function ServicePicture({ model, services: all, relations: links }: ServicePictureProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const describe = useServiceWords();
  const { services, relations, middle, choose } = useShownPart(all, links);
  const frame = useRef<HTMLElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const boxes = useRef(new Map<string, HTMLAnchorElement>());
  const structure = structureOf(services, relations);
  // biome-ignore lint/correctness/useExhaustiveDependencies: health must not move anything
  const layout = useMemo(() => layoutServices(services, relations), [structure]);
  const [stop, setStop] = useState(middle ?? services[0]?.name ?? '');
  const view = useViewport(middle === null ? model : `${model}/${middle}`, layout, frame);
  const { x, y, scale } = view.viewport;
  const current = layout.services.has(stop) ? stop : (services[0]?.name ?? '');
  const go = (name: string) => {
    const at = layout.services.get(name);
    if (at === undefined) return;
    setStop(name);
    view.reveal({ x: at.x, y: at.y, width: boxWidth, height: boxHeight });
    boxes.current.get(name)?.focus({ preventScroll: true });
  };
  const find = (name: string) => {
    if (middle === null) return go(name);
    choose(name);
    setStop(name);
    // The box is in the document once the other part is shown.
    requestAnimationFrame(() => boxes.current.get(name)?.focus({ preventScroll: true }));
  };
  const onKeyDown = usePictureKeys({ layout, current, view, go, find: () => search.current?.focus() });
  const download = () => saveFile(`${model}.svg`, pictureFile(layout, services, relations, describe), 'image/svg+xml');
  return (
    <div className="grid grid-cols-[minmax(0,1fr)]">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 pb-2">
        <FindField ref={search} services={all} onFind={find} />
        {middle === null ? null : (
          <span className="text-12 text-ink-2">
            {t('picture.around', { name: middle, count: services.length, all: format.number(all.length) })}
          </span>
        )}
        <PictureTools scale={scale} onZoom={view.zoom} onFit={view.fit} onDownload={download} />
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a figure with its own keys */}
      <section
        ref={frame}
        role="group"
        aria-label={t('picture.label')}
        aria-describedby="picture-keys"
        onKeyDown={onKeyDown}
        {...view.handlers}
        style={{ height: `min(${Math.max(minHeight, Math.min(maxHeight, layout.height + 2 * margin))}px, 70vh)` }}
        className="relative cursor-grab touch-none overflow-hidden border-t border-line-subtle bg-canvas active:cursor-grabbing"
      >
        <div
          className="absolute top-0 left-0 origin-top-left"
          style={{ width: layout.width, height: layout.height, transform: `translate(${x}px, ${y}px) scale(${scale})` }}
        >
          <Drawing {...{ model, services, relations, layout, boxes, current }} onStop={setStop} />
        </div>
      </section>
      <p id="picture-keys" className="border-t border-line-subtle px-4 py-2 text-12 text-ink-3 max-sm:hidden">
        {t('picture.keys')}
      </p>
    </div>
  );
}

interface DrawingProps extends ServicePictureProps {
  layout: ServiceLayout;
  /** The elements of the boxes, by service. */
  boxes: RefObject<Map<string, HTMLAnchorElement>>;
  /** The service that is the one stop for the keyboard. */
  current: string;
  onStop(name: string): void;
}

/** The lines and boxes at their places. */
function Drawing({ model, services, relations, layout, boxes, current, onStop }: DrawingProps) {
  const describe = useServiceWords();
  const relationOf = new Map(relations.map((relation) => [relation.number, relation]));
  return (
    <>
      <RelationLines model={model} layout={layout} relations={relationOf} />
      {services.map((service) => {
        const at = layout.services.get(service.name);
        return at === undefined ? null : (
          <ServiceBox
            key={service.name}
            ref={(box) => {
              if (box === null) boxes.current.delete(service.name);
              else boxes.current.set(service.name, box);
            }}
            model={model}
            service={service}
            at={at}
            isStop={service.name === current}
            label={describe(service, relations)}
            onFocus={() => onStop(service.name)}
          />
        );
      })}
    </>
  );
}
