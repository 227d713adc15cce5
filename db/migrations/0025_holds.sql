CREATE TABLE "holds" (
	"vm_id" uuid PRIMARY KEY NOT NULL,
	"since" timestamp with time zone,
	"reason" text,
	"by" text,
	"until" timestamp with time zone,
	"past" json DEFAULT '[]'::json NOT NULL,
	"changed_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "goal_state_heads" ADD COLUMN "held_incarnation" integer;--> statement-breakpoint
ALTER TABLE "goal_state_heads" ADD COLUMN "held_etag" text;--> statement-breakpoint
ALTER TABLE "holds" ADD CONSTRAINT "holds_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "holds_until" ON "holds" USING btree ("until") WHERE "holds"."until" is not null;--> statement-breakpoint
CREATE INDEX "holds_changed" ON "holds" USING btree ("changed_at");--> statement-breakpoint
-- Holds of stock agents become holds of their VMs. A deadline used to restart at the release, which is the same as a
-- hold that began before the deadline did.
INSERT INTO "holds" ("vm_id", "since", "by", "past", "changed_at")
SELECT s."vm_id", s."held_at", s."held_by",
  CASE WHEN s."released_at" IS NULL THEN '[]' ELSE json_build_array(json_build_array(v."created_at", s."released_at")) END,
  greatest(s."held_at", s."released_at")
FROM "stock_agents" s JOIN "vms" v ON v."id" = s."vm_id"
WHERE s."held_at" IS NOT NULL OR s."released_at" IS NOT NULL;--> statement-breakpoint
UPDATE "goal_state_heads" h SET "held_incarnation" = g."incarnation", "held_etag" = g."etag"
FROM "holds" o, "goal_states" g
WHERE o."vm_id" = h."vm_id" AND o."since" IS NOT NULL
  AND g."vm_id" = h."vm_id" AND g."incarnation" = greatest(h."delivered_incarnation", 1);
