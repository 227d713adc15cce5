CREATE TABLE "extension_pulse" (
	"vm_id" uuid NOT NULL,
	"name" text NOT NULL,
	"handler_sequence" bigint,
	"handler_hash" uuid,
	"heartbeat_hash" uuid,
	"heartbeat_status" text,
	"heartbeat_read_at" timestamp with time zone,
	"heartbeat_age_seconds" double precision,
	"status_hash" uuid,
	"status_sequence" bigint,
	"status_word" text,
	"status_read_at" timestamp with time zone,
	"status_age_seconds" double precision,
	"concluded_at" timestamp with time zone,
	"concluded_with" text,
	CONSTRAINT "extension_pulse_vm_id_name_pk" PRIMARY KEY("vm_id","name")
) WITH (fillfactor = 70);
--> statement-breakpoint
ALTER TABLE "extension_latest" DROP CONSTRAINT "extension_latest_vm_id_vms_id_fk";
--> statement-breakpoint
ALTER TABLE "agent_presence" ADD COLUMN "last_polled_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "extension_pulse" ADD CONSTRAINT "extension_pulse_vm_id_name_extensions_vm_id_name_fk" FOREIGN KEY ("vm_id","name") REFERENCES "public"."extensions"("vm_id","name") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "agents_enrolled" ON "agents" USING btree ("enrolled_at");--> statement-breakpoint
CREATE INDEX "goal_state_heads_published" ON "goal_state_heads" USING btree ("published_at");--> statement-breakpoint
CREATE INDEX "vms_deleted" ON "vms" USING btree ("deleted_at") WHERE "vms"."deleted_at" is not null;--> statement-breakpoint
-- Without fingerprints: the next report of each document counts as another one, once.
INSERT INTO "extension_pulse" ("vm_id", "name", "handler_sequence", "heartbeat_status", "heartbeat_read_at",
	"heartbeat_age_seconds", "status_sequence", "status_word", "status_read_at", "status_age_seconds", "concluded_at",
	"concluded_with")
SELECT "vm_id", "name", ("handler_state" ->> 'sequenceNumber')::bigint, "heartbeat" ->> 'status', "heartbeat_read_at",
	"heartbeat_age_seconds", "status_sequence", "status" ->> 'status', "status_read_at", "status_age_seconds",
	"concluded_at", "concluded_with"
FROM "extensions" LEFT JOIN "extension_latest" USING ("vm_id", "name");--> statement-breakpoint
INSERT INTO "extension_latest" ("vm_id", "name") SELECT "vm_id", "name" FROM "extensions" ON CONFLICT DO NOTHING;--> statement-breakpoint
-- Rows that every report rewrites: room on their page keeps them out of the indexes.
ALTER TABLE "agent_presence" SET (fillfactor = 70);--> statement-breakpoint
ALTER TABLE "extension_latest" DROP COLUMN "heartbeat_read_at";--> statement-breakpoint
ALTER TABLE "extension_latest" DROP COLUMN "heartbeat_age_seconds";--> statement-breakpoint
ALTER TABLE "extension_latest" DROP COLUMN "status_sequence";--> statement-breakpoint
ALTER TABLE "extension_latest" DROP COLUMN "status_read_at";--> statement-breakpoint
ALTER TABLE "extension_latest" DROP COLUMN "status_age_seconds";--> statement-breakpoint
ALTER TABLE "extension_latest" DROP COLUMN "concluded_at";--> statement-breakpoint
ALTER TABLE "extension_latest" DROP COLUMN "concluded_with";