CREATE TABLE "group_reservations" (
	"vm_id" uuid PRIMARY KEY NOT NULL,
	"disruption_group" text NOT NULL,
	"place" smallint,
	"holder_kind" text NOT NULL,
	"holder_id" text NOT NULL,
	"since" timestamp with time zone NOT NULL,
	CONSTRAINT "group_reservations_place" UNIQUE("disruption_group","place")
);
--> statement-breakpoint
DROP INDEX "rollout_steps_open_set";--> statement-breakpoint
ALTER TABLE "group_reservations" ADD CONSTRAINT "group_reservations_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "group_reservations_holder" ON "group_reservations" USING btree ("holder_kind","holder_id");--> statement-breakpoint
CREATE INDEX "vms_disruption_group" ON "vms" USING btree ("disruption_group") WHERE "vms"."disruption_group" is not null;--> statement-breakpoint
INSERT INTO "group_reservations" ("vm_id", "disruption_group", "place", "holder_kind", "holder_id", "since")
	SELECT "vm_id", "set_key", 0, 'rollout', "rollout_id"::text, "updated_at" FROM "rollout_steps"
	WHERE "set_key" IS NOT NULL AND "state" IN ('inFlight', 'soaking', 'retrying', 'reverting');--> statement-breakpoint
ALTER TABLE "rollout_steps" DROP COLUMN "set_key";