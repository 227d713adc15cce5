import { ensureSyntaxTree, type syntaxTree } from '@codemirror/language';
import { type EditorState, type Line, type Range, StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView } from '@codemirror/view';
import { pointerPath } from '#protocol/pointer.ts';
import { MarkWidget, markedLines, type Severity } from './mark-widget.ts';

type SyntaxNode = ReturnType<typeof syntaxTree>['topNode'];

/** Marks in a JSON text, positioned by JSON pointers. */
export interface JsonMarks {
  /** Errors, each shown below its line. */
  faults: readonly JsonMark[];
  /** Likely mistakes, each shown below its line. */
  warnings?: readonly JsonMark[];
  /** The setting that has the focus in the form; its line is tinted. */
  active?: string | undefined;
}

export interface JsonMark {
  pointer: string;
  message: string;
  /** The path in human-readable form. */
  path: string;
  /** The line of the text, for a mark of the whole text. */
  line?: number | undefined;
}

/** Replaces all marks. */
export const setMarks = StateEffect.define<JsonMarks>();

/** Draws the marks and moves them with the text until they are replaced. */
export const marksOf = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(drawn, transaction) {
    const set = transaction.effects.findLast((effect) => effect.is(setMarks));
    return set === undefined ? drawn.map(transaction.changes) : draw(transaction.state, set.value);
  },
  provide: (field) => EditorView.decorations.from(field),
});

const activeLine = Decoration.line({ class: 'cm-active-setting' });

function draw(state: EditorState, { faults, warnings = [], active }: JsonMarks): DecorationSet {
  const ranges: Range<Decoration>[] = [];
  const marked = new Set<number>();
  const mark = (found: JsonMark, severity: Severity) => {
    const line = lineOf(state, found);
    if (!marked.has(line.from)) ranges.push(markedLines[severity].range(line.from));
    marked.add(line.from);
    const widget = new MarkWidget(found, severity);
    ranges.push(Decoration.widget({ widget, block: true, side: 1 }).range(line.to));
  };
  for (const fault of faults) mark(fault, 'failed');
  for (const warning of warnings) mark(warning, 'warning');
  if (active !== undefined && active !== '') {
    const line = state.doc.lineAt(placeOf(state, active));
    if (!marked.has(line.from)) ranges.push(activeLine.range(line.from));
  }
  return Decoration.set(ranges, true);
}

/** Returns the line of a mark. Text that is not valid JSON has no settings, so its mark names the line. */
export function lineOf(state: EditorState, { pointer, line }: Pick<JsonMark, 'pointer' | 'line'>): Line {
  if (pointer === '' && line !== undefined) return state.doc.line(Math.min(Math.max(line, 1), state.doc.lines));
  return state.doc.lineAt(placeOf(state, pointer));
}

/** Returns the position of a setting in the text, or of its nearest existing parent. */
export function placeOf(state: EditorState, pointer: string): number {
  const tree = ensureSyntaxTree(state, state.doc.length, 100);
  let value = tree?.topNode.firstChild ?? null;
  if (value === null) return 0;
  let place = value.from;
  for (const part of pointerPath(pointer)) {
    const found = memberOf(state, value, part);
    if (found === null) return place;
    place = found.from;
    value = found.value;
    if (value === null) return place;
  }
  return place;
}

function memberOf(
  state: EditorState,
  holder: SyntaxNode,
  name: string,
): { from: number; value: SyntaxNode | null } | null {
  if (holder.name === 'Object') {
    for (const property of holder.getChildren('Property')) {
      const key = property.getChild('PropertyName');
      if (key !== null && nameOf(state.sliceDoc(key.from, key.to)) === name) {
        return { from: property.from, value: property.lastChild };
      }
    }
    return null;
  }
  if (holder.name !== 'Array') return null;
  let entry = holder.firstChild;
  for (let index = -1; entry !== null; entry = entry.nextSibling) {
    if (['[', ']', ',', '⚠'].includes(entry.name)) continue;
    index += 1;
    if (String(index) === name) return { from: entry.from, value: entry };
  }
  return null;
}

function nameOf(quoted: string): string | null {
  try {
    return JSON.parse(quoted);
  } catch {
    return null;
  }
}
